import { Api, type CallError } from '../api.ts'
import { keptCredentials } from '../credentials.ts'
import { friendlyName, type Guest, newGuest, wantedOf } from './guest.ts'
import { address, contentKey, welcome } from './place.ts'

/** Of this window; gone when it is closed. */
const place = 'weft-playground'

export interface Entered {
  readonly guest: Guest
  /** With the credentials of the console, where this window has been opened from it. */
  readonly api: Api | null
}

/** Who this window is. Null: nobody has let it in. @throws CallError */
export async function enter(): Promise<Entered | null> {
  const wanted = wantedOf(location.hash)
  // Tokens do not stay in the address, where they would be bookmarked and copied.
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
  const credentials = keptCredentials()
  const api = credentials === null ? null : new Api(credentials)
  const before = keptGuest()
  const guest = wanted.kind === 'guest' ? wanted.guest : wanted.kind === 'kept' ? before : null
  // Who opens a second window, or comes back, has seen the text.
  if (api !== null && guest === null && wanted.kind === 'kept') await fillIn(api)
  const entered = guest ?? (api === null ? renamed(before) : await newGuest(api))
  if (entered === null) return null
  sessionStorage.setItem(place, JSON.stringify(entered))
  return { guest: entered, api }
}

function keptGuest(): Guest | null {
  const kept = sessionStorage.getItem(place)
  return kept === null ? null : (JSON.parse(kept) as Guest)
}

/** Without credentials a second window has the token of the first. */
const renamed = (guest: Guest | null): Guest | null =>
  guest === null ? null : { ...guest, name: friendlyName() }

/** Of those who come first at the same time one succeeds; for all others the text is there. */
async function fillIn(api: Api): Promise<void> {
  try {
    await api.call('/v2/crdt/add', { ...address, contentKey, type: 'xml', data: welcome })
  } catch (error) {
    if ((error as CallError).status !== 'ALREADY_EXISTS') throw error
  }
}

/** The next time this window is somebody new. */
export const leave = (): void => sessionStorage.removeItem(place)
