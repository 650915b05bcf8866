"""Papers: PDF to Markdown, links removed, the ParsePDF tool."""
