"""Check what a site file declares."""
