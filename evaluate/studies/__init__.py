"""The experiments of the source documents, each one command, beside the documents' own numbers."""
