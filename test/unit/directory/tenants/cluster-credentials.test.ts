import { expect, it } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { readConfig } from '../../../../src/core/config/read-config.ts'
import type { RecordedChange } from '../../../../src/core/directory/tenants/bootstrap.ts'
import { bootstrapNode } from '../../../../src/core/directory/tenants/cluster-credentials.ts'
import { createTenancy } from '../../../../src/core/directory/tenants/tenancy.ts'
import { eventually } from '../../../support/clients/clients.ts'
import { type SharedNode, sharedNodes } from '../../../support/servers/simulated-network.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const log = createLog('silent')
const { config } = readConfig({ flags: {}, environment: {}, file: null })

it('[CS-13] when a node pauses during its start, gives it the credentials of the nodes that started in the meantime', async () => {
  const clock = new HeldClock()
  const [slow, other] = (await sharedNodes(2, { clock })) as [SharedNode, SharedNode]
  const start = ({ engine }: SharedNode, before: () => Promise<void>) => {
    const { tenants } = createTenancy(engine, clock)
    const carryOut: RecordedChange = (_, work) => before().then(work)
    return bootstrapNode(engine, {
      configured: config,
      directory: null,
      keptIn: 'store',
      tenants,
      clock,
      log,
      carryOut,
    })
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
  expect((await start(other, async () => {})).credentials).toEqual(credentials)
})
