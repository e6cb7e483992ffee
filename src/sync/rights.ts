import type { DocumentAccess } from '../access/document-access.ts'
import type { Identity } from '../access/identity.ts'
import { type Role, roleOn } from '../access/roles.ts'
import type { DocumentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import { deleted } from '../rooms/failing.ts'

/** What the user of one session may do on its document, by what is known of both now. */
export class Rights {
  readonly #address: DocumentAddress
  readonly #changed: (role: Role) => void
  #identity: Identity
  #access: DocumentAccess
  #role: Role | null = null
  /** Epoch milliseconds at which to look again. */
  #until = 0

  /** @param changed called with the role, when it is first asked for and when it has become another */
  constructor(
    identity: Identity,
    address: DocumentAddress,
    access: DocumentAccess,
    changed: (role: Role) => void,
  ) {
    this.#identity = identity
    this.#address = address
    this.#access = access
    this.#changed = changed
  }

  get identity(): Identity {
    return this.#identity
  }

  /** Why there are none any more. */
  get ended(): Close {
    return revocations[this.#access.state]
  }

  /** Null: none any more. */
  roleAt(now: number): Role | null {
    if (now >= this.#until) this.#look(now)
    return this.#role
  }

  /** What the directory says now. */
  changeAccess(access: DocumentAccess): void {
    this.#access = access
    this.#until = 0
  }

  /** @param identity of the same user: a newer token */
  renew(identity: Identity): void {
    this.#identity = identity
    this.#until = 0
  }

  #look(now: number): void {
    const { role, until } = roleOn(this.#identity, this.#address, this.#access, now)
    const isNews = role !== null && role !== this.#role
    this.#role = role
    this.#until = until
    if (isNews) this.#changed(role)
  }
}

/** Why sessions on a disabled document end. */
export const disabled = close('revoked', 'the document is disabled')

/** Why sessions whose user has no right any more end. */
const revocations: Readonly<Record<DocumentAccess['state'], Close>> = {
  open: close('revoked', 'the right to this document has ended'),
  disabled,
  deleted,
}
