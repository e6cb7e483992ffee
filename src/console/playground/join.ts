import { type ApiCallError, ApiClient } from '../api/client.ts'
import { loadCredentials } from '../api/credentials.ts'
import { friendlyName, newParticipant, type Participant, parseIdentityHash } from './participant.ts'
import { contentKey, playgroundAddress, welcome } from './playground-document.ts'

/**
 * Key of the identity in the session storage. The browser removes the session storage when the window closes.
 */
const place = 'weft-playground'

export interface JoinedPlayground {
  readonly participant: Participant
  /** Client with the credentials of the console; null if the console did not open this window. */
  readonly api: ApiClient | null
}

/** Returns the identity of this window; null if the window has no access. @throws ApiCallError */
export async function joinPlayground(): Promise<JoinedPlayground | null> {
  const wanted = parseIdentityHash(location.hash)
  // Removes the token from the address. Otherwise, users would bookmark or copy the address with the token.
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
  const credentials = loadCredentials()
  const api = credentials === null ? null : new ApiClient(credentials)
  const before = storedParticipant()
  const participant = wanted.kind === 'guest' ? wanted.participant : wanted.kind === 'kept' ? before : null
  // Adds the initial text only for a new user. A returning user and the user of a second window have already
  // seen a text.
  if (api !== null && participant === null && wanted.kind === 'kept') await fillIn(api)
  const entered = participant ?? (api === null ? renamed(before) : await newParticipant(api))
  if (entered === null) return null
  sessionStorage.setItem(place, JSON.stringify(entered))
  return { participant: entered, api }
}

/**
 * Returns the stored identity of this window. Returns null if there is none, or if another version has stored
 * it in a different form. The window then joins with a new identity.
 */
function storedParticipant(): Participant | null {
  const stored = sessionStorage.getItem(place)
  if (stored === null) return null
  try {
    const { name, token } = JSON.parse(stored) as { readonly name: unknown; readonly token: unknown }
    return typeof name === 'string' && typeof token === 'string' ? { name, token } : null
  } catch {
    return null
  }
}

/**
 * Returns the participant with a new name and the same token. Used for a second window without credentials,
 * which has no other token.
 */
const renamed = (participant: Participant | null): Participant | null =>
  participant === null ? null : { ...participant, name: friendlyName() }

/**
 * Adds the initial text to the document. If several windows do this at the same time, only one call succeeds,
 * and the other windows find the text.
 */
async function fillIn(api: ApiClient): Promise<void> {
  try {
    await api.call('/v2/crdt/add', { ...playgroundAddress, contentKey, type: 'xml', data: welcome })
  } catch (error) {
    if ((error as ApiCallError).status !== 'ALREADY_EXISTS') throw error
  }
}

/** Removes the stored identity, so that this window joins with a new identity the next time. */
export const forgetIdentity = (): void => sessionStorage.removeItem(place)
