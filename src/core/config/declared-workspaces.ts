import { didYouMean, misspelledName } from '../base/text.ts'
import { headerValue, type Parser } from './option-parsers.ts'

/**
 * A workspace that the configuration declares. It must exist when the server has started, with one API key
 * and one auth token of this API key.
 */
export interface DeclaredWorkspace {
  readonly name: string
  readonly workspaceId: string
  readonly workspaceAuthToken: string
  readonly apiKey: string
  readonly authToken: string
}

type WorkspaceMember = Exclude<keyof DeclaredWorkspace, 'name'>

/** The allowed spellings of each member of a declaration. */
const spellings: Record<WorkspaceMember, readonly string[]> = {
  workspaceId: ['workspaceId'],
  workspaceAuthToken: ['workspaceAuthToken', 'workspaceToken'],
  apiKey: ['apiKey'],
  authToken: ['authToken'],
}
const id = headerValue(1)
const token = headerValue(16)
const parsers: Record<WorkspaceMember, Parser<string>> = {
  workspaceId: id,
  workspaceAuthToken: token,
  apiKey: id,
  authToken: token,
}
const nameLengthMax = 200

/**
 * Thrown if a declaration is invalid. The message describes the problem, but never contains a value, because
 * a value may be a secret.
 */
class InvalidWorkspaceError extends Error {}

/** Parses JSON that declares workspaces, by their names. */
export const declaredWorkspaces: Parser<readonly DeclaredWorkspace[]> = {
  expected:
    'JSON: `{ [name]: { workspaceId, workspaceToken, apiKey, authToken } }`, the tokens of 16 to 512 visible ASCII characters',
  parse(text) {
    const read = readWorkspaces(text)
    return read instanceof InvalidWorkspaceError ? undefined : read
  },
  problem(text) {
    const read = readWorkspaces(text)
    return read instanceof InvalidWorkspaceError ? read.message : null
  },
}

function readWorkspaces(text: string): readonly DeclaredWorkspace[] | InvalidWorkspaceError {
  try {
    const declared = membersOf(parseJson(text), 'it')
    checkNamed(declared)
    const workspaces = declared.map(([name, value]) => workspaceOf(name, value))
    for (const member of ['workspaceId', 'apiKey'] as const) checkDistinct(workspaces, member)
    return workspaces
  } catch (error) {
    if (error instanceof InvalidWorkspaceError) return error
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidWorkspaceError('it is not JSON')
  }
}

function membersOf(value: unknown, what: string): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidWorkspaceError(`${what} must be a JSON object`)
  return Object.entries(value)
}

/**
 * Rejects an object that is itself the declaration of a workspace. The object must contain the declarations
 * by name.
 */
function checkNamed(declared: readonly (readonly [string, unknown])[]): void {
  const known = Object.values(spellings).flat()
  const texts = declared.filter(([, value]) => typeof value === 'string').map(([name]) => name)
  const misspelled = texts.find((name) => !known.includes(name) && misspelledName(name, known) !== null)
  if (misspelled !== undefined)
    throw new InvalidWorkspaceError(
      `it has the unknown member ${JSON.stringify(misspelled)}${didYouMean(misspelled, known)}; ` +
        'the members of a workspace must be inside an object with the name of the workspace',
    )
  const member = texts.find((name) => known.includes(name))
  if (member !== undefined)
    throw new InvalidWorkspaceError(
      `${JSON.stringify(member)} must be inside an object with the name of the workspace`,
    )
}

function workspaceOf(name: string, value: unknown): DeclaredWorkspace {
  const shown = JSON.stringify(name.slice(0, nameLengthMax))
  if (name === '' || name.length > nameLengthMax)
    throw new InvalidWorkspaceError(`the name ${shown} must have 1 to ${nameLengthMax} characters`)
  const members = new Map(membersOf(value, shown))
  const known = Object.values(spellings).flat()
  const unknown = [...members.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw new InvalidWorkspaceError(
      `${shown} has the unknown member ${JSON.stringify(unknown)}${didYouMean(unknown, known)}`,
    )
  return {
    name,
    workspaceId: memberOf(members, 'workspaceId', shown),
    workspaceAuthToken: memberOf(members, 'workspaceAuthToken', shown),
    apiKey: memberOf(members, 'apiKey', shown),
    authToken: memberOf(members, 'authToken', shown),
  }
}

function memberOf(members: ReadonlyMap<string, unknown>, member: WorkspaceMember, shown: string): string {
  const present = spellings[member].filter((spelling) => members.has(spelling))
  const [spelling, other] = present
  if (spelling === undefined)
    throw new InvalidWorkspaceError(`${shown} has no ${spellings[member].join(' or ')}`)
  if (other !== undefined) throw new InvalidWorkspaceError(`${shown} has both ${spelling} and ${other}`)
  const value = members.get(spelling)
  const parsed = typeof value === 'string' ? parsers[member].parse(value) : undefined
  if (parsed === undefined)
    throw new InvalidWorkspaceError(`${spelling} of ${shown} must be ${parsers[member].expected}`)
  return parsed
}

function checkDistinct(workspaces: readonly DeclaredWorkspace[], member: 'workspaceId' | 'apiKey'): void {
  const seen = new Map<string, string>()
  for (const workspace of workspaces) {
    const other = seen.get(workspace[member])
    if (other !== undefined)
      throw new InvalidWorkspaceError(
        `${JSON.stringify(other)} and ${JSON.stringify(workspace.name)} have the same ${member}`,
      )
    seen.set(workspace[member], workspace.name)
  }
}
