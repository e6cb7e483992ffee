/** The oldest Node that this version supports. */
const oldest = { major: 20, minor: 19 }

/**
 * Returns the message for a Node that is too old; null: it is supported. Old versions of Node must be able to
 * read this file and `main.ts`.
 * @param version such as `20.19.0`
 */
export function nodeProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return null
  return `this is Node ${version}, and Weft needs Node ${oldest.major}.${oldest.minor} or later: install it from https://nodejs.org`
}
