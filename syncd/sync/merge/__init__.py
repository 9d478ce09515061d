"""The only three-way merge of the program: merge bases, and the merge of two commits.

What the words of these modules mean:

- entry: a file with all paths that it has in base, ours and theirs, and its line in SUMMARY.md. It is merged, or left
  out, as a whole. (`Entry` is only that line.)
- base: the tree that two commits are compared with, which has each entry as both sides last knew it, and the commits
  that this tree comes from.
- part: a commit that stands for another one but for some entries, which are as the base has them. Git counts it as an
  ancestor where it must not count the other one.
- lane: a stream of revisions that Git and the store record apart from others: main content, or one change request.
- tip: the commit of a branch that was last in step with the platform; by it a rewritten branch is noticed.
"""
