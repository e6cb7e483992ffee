import type { Attack } from './attack.ts'
import { floodAttacks } from './floods.ts'
import { messageAttacks } from './messages.ts'
import { queryAttacks } from './queries.ts'
import { responseAttacks } from './responses.ts'
import { textAttacks } from './texts.ts'
import { updateAttacks } from './updates.ts'

/** All attacks by name, in the order of the findings. */
export const attacks: Readonly<Record<string, Attack>> = {
  ...textAttacks,
  ...updateAttacks,
  ...responseAttacks,
  ...messageAttacks,
  ...floodAttacks,
  ...queryAttacks,
}
