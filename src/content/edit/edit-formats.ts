/** Formats of the content of an edit. Without a format, a string is text, and any other value a JSON value. */
export const editFormats = ['text', 'markdown', 'html', 'prosemirror', 'xml'] as const
