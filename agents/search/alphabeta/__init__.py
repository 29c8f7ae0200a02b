"""Alpha-beta search of sequential games for two players."""
