import * as v from 'valibot'
import { type ApiCallError, ApiClient } from '../console/api/client.ts'
import { loadCredentials } from '../console/auth/credentials.ts'
import { readJson } from '../json.ts'
import { friendlyName, newParticipant, type Participant, parseIdentityHash } from './participant.ts'
import { contentKey, playgroundAddress, welcome } from './playground-document.ts'

/** Key in the session storage of this window, which ends with the window. */
const place = 'weft-playground'

export interface JoinedPlayground {
  readonly participant: Participant
  /** With the credentials of the console, if the console opened this window. */
  readonly api: ApiClient | null
}

/** Returns the identity of this window; null without access. @throws ApiCallError */
export async function joinPlayground(): Promise<JoinedPlayground | null> {
  const wanted = parseIdentityHash(location.hash)
  // Removes the token from the address, where users would bookmark and copy it.
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
  const credentials = loadCredentials()
  const api = credentials === null ? null : new ApiClient(credentials)
  const before = storedParticipant()
  const participant = wanted.kind === 'guest' ? wanted.participant : wanted.kind === 'kept' ? before : null
  // A returning user, and the user of a second window, have already seen the text.
  if (api !== null && participant === null && wanted.kind === 'kept') await fillIn(api)
  const entered = participant ?? (api === null ? renamed(before) : await newParticipant(api))
  if (entered === null) return null
  sessionStorage.setItem(place, JSON.stringify(entered))
  return { participant: entered, api }
}

const participantSchema = v.looseObject({ name: v.string(), token: v.string() })

/** Also null if another version stored it in another form: then the window joins with a new identity. */
function storedParticipant(): Participant | null {
  const stored = sessionStorage.getItem(place)
  if (stored === null) return null
  try {
    return readJson(participantSchema, stored)
  } catch {
    return null
  }
}

/** Without credentials, a second window uses the token of the first. */
const renamed = (participant: Participant | null): Participant | null =>
  participant === null ? null : { ...participant, name: friendlyName() }

/** If several windows are the first at once, one call succeeds; the others find the text. */
async function fillIn(api: ApiClient): Promise<void> {
  try {
    await api.call('/v2/crdt/add', { ...playgroundAddress, contentKey, type: 'xml', data: welcome })
  } catch (error) {
    if ((error as ApiCallError).status !== 'ALREADY_EXISTS') throw error
  }
}

/** Makes this window join with a new identity the next time. */
export const forgetIdentity = (): void => sessionStorage.removeItem(place)
