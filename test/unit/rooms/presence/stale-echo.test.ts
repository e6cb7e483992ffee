import { it } from 'vitest'
import { after, expectExactly, type Step } from './reference-model.ts'

it('[CP-22] what is told back of a client that has just gone over to another node does not make it come back', async () => {
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

it('[CP-22] a client that leaves two nodes at once is seen by no client, though its older state arrives late', async () => {
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
