import { headerValue, type Parser } from './parse.ts'

/** A workspace that must exist when the server has started, with one API key and one auth token of that. */
export interface DeclaredWorkspace {
  readonly name: string
  readonly workspaceId: string
  readonly workspaceAuthToken: string
  readonly apiKey: string
  readonly authToken: string
}

type Member = Exclude<keyof DeclaredWorkspace, 'name'>

/** The members of a declaration, each by its spellings. */
const spellings: Record<Member, readonly string[]> = {
  workspaceId: ['workspaceId'],
  workspaceAuthToken: ['workspaceAuthToken', 'workspaceToken'],
  apiKey: ['apiKey'],
  authToken: ['authToken'],
}
const id = headerValue(1)
const token = headerValue(16)
const parsers: Record<Member, Parser<string>> = {
  workspaceId: id,
  workspaceAuthToken: token,
  apiKey: id,
  authToken: token,
}
const nameLengthMax = 200

/** Says what is wrong with a declaration. Never repeats a value: it may be a secret. */
class Unfit extends Error {}

/** Workspaces as JSON, by their names. */
export const declaredWorkspaces: Parser<readonly DeclaredWorkspace[]> = {
  expected:
    'JSON: `{ [name]: { workspaceId, workspaceToken, apiKey, authToken } }`, the tokens of 16 to 512 visible ASCII characters',
  parse(text) {
    const read = readWorkspaces(text)
    return read instanceof Unfit ? undefined : read
  },
  problem(text) {
    const read = readWorkspaces(text)
    return read instanceof Unfit ? read.message : null
  },
}

function readWorkspaces(text: string): readonly DeclaredWorkspace[] | Unfit {
  try {
    const workspaces = membersOf(parseJson(text), 'it').map(([name, value]) => workspaceOf(name, value))
    for (const member of ['workspaceId', 'apiKey'] as const) checkDistinct(workspaces, member)
    return workspaces
  } catch (error) {
    if (error instanceof Unfit) return error
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unfit('it is not JSON')
  }
}

function membersOf(value: unknown, what: string): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unfit(`${what} must be a JSON object`)
  return Object.entries(value)
}

function workspaceOf(name: string, value: unknown): DeclaredWorkspace {
  const shown = JSON.stringify(name.slice(0, nameLengthMax))
  if (name === '' || name.length > nameLengthMax)
    throw new Unfit(`the name ${shown} must have 1 to ${nameLengthMax} characters`)
  const members = new Map(membersOf(value, shown))
  const known = Object.values(spellings).flat()
  const unknown = [...members.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined) throw new Unfit(`${shown} has the unknown member ${JSON.stringify(unknown)}`)
  return {
    name,
    workspaceId: memberOf(members, 'workspaceId', shown),
    workspaceAuthToken: memberOf(members, 'workspaceAuthToken', shown),
    apiKey: memberOf(members, 'apiKey', shown),
    authToken: memberOf(members, 'authToken', shown),
  }
}

function memberOf(members: ReadonlyMap<string, unknown>, member: Member, shown: string): string {
  const present = spellings[member].filter((spelling) => members.has(spelling))
  const [spelling, other] = present
  if (spelling === undefined) throw new Unfit(`${shown} has no ${spellings[member].join(' or ')}`)
  if (other !== undefined) throw new Unfit(`${shown} has both ${spelling} and ${other}`)
  const value = members.get(spelling)
  const parsed = typeof value === 'string' ? parsers[member].parse(value) : undefined
  if (parsed === undefined) throw new Unfit(`${spelling} of ${shown} must be ${parsers[member].expected}`)
  return parsed
}

function checkDistinct(workspaces: readonly DeclaredWorkspace[], member: 'workspaceId' | 'apiKey'): void {
  const seen = new Map<string, string>()
  for (const workspace of workspaces) {
    const other = seen.get(workspace[member])
    if (other !== undefined)
      throw new Unfit(`${JSON.stringify(other)} and ${JSON.stringify(workspace.name)} have one ${member}`)
    seen.set(workspace[member], workspace.name)
  }
}
