/**
 * The parts of `lib0/logging` that Yjs uses. The build replaces that module, which formats for terminals and pages,
 * and adds 3 KB (gzipped).
 */
export const warn = (...values: readonly unknown[]): void => console.warn(...values)
export const print = warn

/** Formats have no effect here. */
export const [ORANGE, RED, BOLD, UNBOLD] = ['', '', '', '']
