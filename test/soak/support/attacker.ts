/** Attacks a server from its own process: prepares first, then attacks until it is stopped. */
import { attacks } from '../../support/attacks/all.ts'
import type { Target } from '../../support/attacks/attack.ts'

export interface AttackOrder {
  readonly attack: string
  readonly target: Target
}

/** Pause after an error, for example when everything is rejected. */
const pauseMs = 5

const going = { on: false }

process.on('message', (message: AttackOrder | 'go' | 'stop') => {
  if (message === 'stop') process.exit(0)
  if (message === 'go') going.on = true
  else void attack(message)
})

async function attack({ attack: name, target }: AttackOrder): Promise<void> {
  const round = await attacks[name]?.prepare(target)
  process.send?.('prepared')
  for (let rounds = 0; ; ) {
    if (going.on && round !== undefined) {
      await round().catch((error: unknown) => console.error(error))
      rounds += 1
      process.send?.(rounds)
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
