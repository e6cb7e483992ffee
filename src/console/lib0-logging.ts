/**
 * Contains the parts of `lib0/logging` that Yjs uses. The build replaces the original module with this one,
 * because the original formats for terminals and pages and adds 3 KB (gzipped).
 */
export const warn = (...values: readonly unknown[]): void => console.warn(...values)
export const print = warn

/** Formats that have no effect in this module. */
export const [ORANGE, RED, BOLD, UNBOLD] = ['', '', '', '']
