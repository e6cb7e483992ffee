/**
 * Formats of a comparison. `runs`: the content of both versions in parts. `markdown`: Markdown with `<ins>` and `<del>`.
 * `prosemirror`: ProseMirror JSON with marks. `patch`: JSON Patch (RFC 6902).
 */
export const diffFormats = ['runs', 'markdown', 'prosemirror', 'patch'] as const

export type DiffFormat = (typeof diffFormats)[number]
