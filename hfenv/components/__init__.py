"""The three components: ownership of files, digests, versions, changelogs and the release record."""
