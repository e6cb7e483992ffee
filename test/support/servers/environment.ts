/**
 * Returns the environment of this process without variables that only tests read. The server would reject
 * these variables as unknown options.
 */
export const inheritedEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^WEFT_(TEST|FUZZ)_/.test(name)))
