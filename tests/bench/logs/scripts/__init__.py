"""What others do with a log, one script for each way. They are run as files and know nothing of each other."""
