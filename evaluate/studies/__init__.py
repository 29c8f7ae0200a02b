"""Studies: experiments of the source documents, one command each, compared with their figures."""
