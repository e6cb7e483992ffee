import { accessTopic, decodeAccessChange } from '../directory/access-change.ts'
import { keys, type OrganizationScope, organizationPart } from '../directory/organization-keys.ts'
import type { Reader } from '../directory/reader.ts'
import type { Bus } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'

/** Organizations that are remembered; of more the ones remembered longest are forgotten. */
const rememberedMax = 10_000

/**
 * Which organizations have anybody in a group: in the others nobody's groups need to be looked for, which takes a
 * scan for each connection. What changes acts at once.
 */
export class Grouped {
  readonly #remembered = new Map<string, Promise<boolean>>()

  constructor(bus: Bus) {
    bus.subscribe(accessTopic, (message) => {
      this.#remembered.delete(nameOf(decodeAccessChange(message).scope))
      return undefined
    })
    bus.onLoss(() => this.#remembered.clear())
  }

  /** The question is remembered, not the answer: one that a change overtakes is forgotten with it. */
  isIn(scope: OrganizationScope, reader: Reader): Promise<boolean> {
    const name = nameOf(scope)
    const remembered = this.#remembered.get(name)
    if (remembered !== undefined) return remembered
    const asked = reader.scan({ prefix: keys.groupsOfAll, limit: 1 }).then(({ length }) => length > 0)
    this.#remembered.set(name, asked)
    asked.catch(() => this.#remembered.delete(name))
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size > rememberedMax && oldest !== undefined) this.#remembered.delete(oldest)
    return asked
  }
}

const nameOf = (scope: OrganizationScope): string => keyName(organizationPart(scope))
