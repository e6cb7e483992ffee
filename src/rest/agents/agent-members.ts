import type { AgentIdentity } from '../../core/access/credentials/authenticator.ts'
import { agentMeta, agentMetaNames } from '../../core/access/identity.ts'
import { ApiError } from '../../core/base/errors.ts'
import { isJsonObject } from '../../core/base/json.ts'
import type { AgentRule } from '../operation.ts'
import { invalidAt } from '../validator.ts'

/** Maximum characters of the name of a user, as in comments. */
const nameLengthMax = 200

/** An object that may have the member `name`, with the JSON pointer of that member. */
interface Place {
  readonly object: Record<string, unknown>
  readonly name: string
  readonly pointer: string
}

/**
 * Puts the agent into the members of a request that name the user of the call. Called before the validation, so members
 * can have any type. Leaves members of a wrong type to the validation.
 * @throws ApiError PERMISSION_DENIED if a member names another user; INVALID_ARGUMENT if a member is not for agents
 */
export function applyAgentRule(rule: AgentRule, data: object, identity: AgentIdentity): void {
  const { ids = [], users = [], meta, without = [] } = rule
  for (const { object, name, pointer } of placesOf(data, without))
    if (object[name] !== undefined)
      throw invalidAt({ path: pointer, message: 'must not be sent by an agent' })
  for (const place of placesOf(data, ids)) setId(place, identity)
  for (const place of placesOf(data, users)) setUser(place, identity)
  if (meta !== undefined) for (const place of placesOf(data, [meta])) setMeta(place, identity)
}

function setId({ object, name, pointer }: Place, { userId }: AgentIdentity): void {
  const given = object[name]
  if (given === undefined) object[name] = userId
  else if (typeof given === 'string' && given !== userId) throw otherUser(pointer)
}

function setUser({ object, name, pointer }: Place, { userId, name: userName }: AgentIdentity): void {
  const given = object[name]
  if (given !== undefined && !isJsonObject(given)) return
  if (typeof given?.userId === 'string' && given.userId !== userId) throw otherUser(`${pointer}/userId`)
  const { name: _name, email: _email, ...members } = given ?? {}
  const shown = userName.slice(0, nameLengthMax).toWellFormed()
  object[name] = { ...members, userId, ...(shown !== '' && { name: shown }) }
}

function setMeta({ object, name, pointer }: Place, { agent }: AgentIdentity): void {
  const given = object[name]
  if (given !== undefined && !isJsonObject(given)) return
  const reserved = agentMetaNames.find((each) => given !== undefined && Object.hasOwn(given, each))
  if (reserved !== undefined)
    throw invalidAt({
      path: `${pointer}/${reserved}`,
      message: 'is set by the server from the token of the agent',
    })
  const set = agentMeta(agent)
  if (Object.keys(set).length > 0) object[name] = { ...given, ...set }
}

const otherUser = (pointer: string): ApiError =>
  new ApiError(
    'agent/other-user',
    `an agent acts only as itself: leave out ${pointer}, which names another user`,
  )

/** Returns the places of members. An object on the way that does not exist has no places. */
function placesOf(data: object, paths: readonly string[]): readonly Place[] {
  return paths.flatMap((path) => {
    const steps = path.split('.')
    const name = steps.pop() as string
    let objects: readonly { readonly value: unknown; readonly pointer: string }[] = [
      { value: data, pointer: '/data' },
    ]
    for (const step of steps)
      objects = objects.flatMap(({ value, pointer }) => {
        if (step === '*')
          return Array.isArray(value)
            ? value.map((item: unknown, index) => ({ value: item, pointer: `${pointer}/${index}` }))
            : []
        return isJsonObject(value) ? [{ value: value[step], pointer: `${pointer}/${step}` }] : []
      })
    return objects.flatMap(({ value, pointer }) => {
      if (name === '*') return Array.isArray(value) ? elementsOf(value, pointer) : []
      return isJsonObject(value) ? [{ object: value, name, pointer: `${pointer}/${name}` }] : []
    })
  })
}

const elementsOf = (list: unknown[], pointer: string): readonly Place[] =>
  list.map((_, index) => ({
    // A list is an object with its indexes as names.
    object: list as unknown as Record<string, unknown>,
    name: String(index),
    pointer: `${pointer}/${index}`,
  }))
