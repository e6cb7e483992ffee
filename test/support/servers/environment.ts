/** The environment of this process without the variables that only tests read: Weft rejects them as unknown options. */
export const inheritedEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^WEFT_(TEST|FUZZ)_/.test(name)))
