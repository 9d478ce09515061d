"""Run the jobs of a platform without a worker, so that a test knows when they have ended."""

from collections.abc import Mapping

from syncd.platform.storage.jobs import JobContext, JobHandler, run_due_job


def run_due_jobs(context: JobContext, handlers: Mapping[str, JobHandler]) -> int:
    """Run every job that is due, and return how many were run."""
    count = 0
    while run_due_job(context, handlers):
        count += 1
    return count
