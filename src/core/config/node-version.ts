/** The oldest version of Node that this version of Weft supports. */
const oldest = { major: 20, minor: 19 }

/**
 * Returns the error message if this version of Node is too old; null if the version is supported. This file
 * and `main.ts` must use only syntax that old versions of Node can parse.
 * @param version version number, such as `20.19.0`
 */
export function nodeProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return null
  return `this is Node ${version}, and Weft needs Node ${oldest.major}.${oldest.minor} or later: install it from https://nodejs.org`
}
