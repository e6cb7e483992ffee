/**
 * Replacement for `lib0/logging` with only the functions that Yjs uses. The build uses it instead of the
 * original module. The original module formats text for terminals and pages, and adds 3 KB (gzipped).
 */
export const warn = (...values: readonly unknown[]): void => console.warn(...values)
export const print = warn

/** Format codes of the original module. They have no effect here. */
export const [ORANGE, RED, BOLD, UNBOLD] = ['', '', '', '']
