"""The site file: what a site should be, as people declare it; read strictly, checked offline, patched in place."""
