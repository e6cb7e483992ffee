import { it } from 'vitest'
import { after, expectExactly, type Step } from './reference-model.ts'

it('[CP-22] does not restore a client that moved to another node when its state is repeated', async () => {
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

it('[CP-22] shows a client that leaves two nodes at once to no client when its older state arrives late', async () => {
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
