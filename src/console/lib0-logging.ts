/**
 * What Yjs uses of `lib0/logging`, in whose place the build puts this: that one formats for terminals and pages, and
 * brings 3 KB along, gzipped.
 */
export const warn = (...values: readonly unknown[]): void => console.warn(...values)
export const print = warn

/** Marks of format: nothing here. */
export const [ORANGE, RED, BOLD, UNBOLD] = ['', '', '', '']
