/**
 * Formats of the content of an edit. Without a format, a string is Markdown in rich text, and text in all other roots;
 * any other value is a JSON value.
 */
export const editFormats = ['text', 'markdown', 'html', 'prosemirror', 'xml'] as const
