"""Checks of folders, and what becomes of findings: ignored, put into a baseline, cured."""
