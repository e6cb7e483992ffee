import { it } from 'vitest'
import { after, expectExactly, type Step } from './reference-model.ts'

it('[CP-22] when the old state of a client that has moved to another node is repeated, does not restore the client', async () => {
  const steps: readonly Step[] = [
    { kind: 'connect', page: 0, node: 0 },
    { kind: 'connect', page: 3, node: 2 },
    { kind: 'cut', node: 1 },
    { kind: 'pass', ms: 1 },
    { kind: 'connect', page: 0, node: 1 },
    { kind: 'connect', page: 1, node: 0 },
    { kind: 'pass', ms: 200 },
    { kind: 'mend', node: 1 },
    { kind: 'connect', page: 2, node: 0 },
    { kind: 'connect', page: 2, node: 0 },
    { kind: 'pass', ms: 200 },
  ]
  await after({ steps, weather: [[1], [0]], chance: 0 }, expectExactly)
})

it('[CP-22] when a client leaves two nodes at the same time and its older state arrives late, does not show the client to other clients', async () => {
  const steps: readonly Step[] = [
    { kind: 'connect', page: 0, node: 1 },
    { kind: 'connect', page: 1, node: 0 },
    { kind: 'connect', page: 1, node: 1 },
    { kind: 'show', page: 1 },
    { kind: 'connect', page: 0, node: 1 },
    { kind: 'disconnect', page: 1 },
  ]
  await after({ steps, weather: [[0]], chance: 0 }, expectExactly)
})
