import { expect, it } from 'vitest'
import { readConfig } from '../../../src/config/read.ts'
import { agreedCredentials, bootstrapNode } from '../../../src/directory/agreement.ts'
import { createTenancy } from '../../../src/directory/tenancy.ts'
import { eventually } from '../../support/clients.ts'
import { HeldClock } from '../../support/clock.ts'
import { type SharedNode, sharedNodes } from '../../support/nodes.ts'

const { config } = readConfig({ flags: {}, environment: {}, file: null })

it('[CS-13] a node that stands still while it starts has what those have who have started meanwhile', async () => {
  const clock = new HeldClock()
  const [slow, other] = (await sharedNodes(2, { clock })) as [SharedNode, SharedNode]
  const start = ({ engine }: SharedNode, onChange: () => Promise<void>) => {
    const { tenants } = createTenancy(engine, clock)
    return bootstrapNode(engine, { configured: config, directory: null, tenants, clock, onChange })
  }
  let goOn = null as (() => void) | null
  const late = start(slow, () => {
    if (goOn !== null) return Promise.resolve()
    return new Promise<void>((resolve) => {
      goOn = resolve
    })
  })
  await eventually(() => goOn !== null)
  clock.advance(10_001)
  const { credentials } = await start(other, async () => {})
  goOn?.()
  expect((await late).credentials).toEqual(credentials)
  const { workspaceId, apiKey, jwtSecret } = credentials
  expect(await agreedCredentials(slow.engine.kv)).toEqual({ workspaceId, apiKey, jwtSecret })
})
