import type { Random } from '../data/random-doc.ts'
import { varUint } from './crafted-updates.ts'

/**
 * Returns an update with one to four random changes. A change flips, removes, inserts or overwrites bytes.
 */
export function mutate(update: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let bytes = [...update]
  for (let count = 1 + random.below(4); count > 0; count--) {
    const at = random.below(bytes.length)
    const kind = random.below(5)
    if (kind === 0) bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
    else if (kind === 1) bytes[at] = random.pick([0, 1, 127, 128, 255, random.below(256)])
    else if (kind === 2) bytes = bytes.slice(0, at + 1)
    else if (kind === 3) bytes.splice(at, 0, ...other.slice(0, random.below(other.length + 1)))
    else {
      const number = random.pick([0, 2 ** 31 - 1, 2 ** 32, 2 ** 40, 2 ** 53 - 1, 2 ** 53, random.below(300)])
      bytes.splice(at, random.below(4), ...varUint(number))
    }
  }
  return Uint8Array.from(bytes)
}
