import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const monitoring = join(import.meta.dirname, '../../..', 'examples', 'deploy', 'monitoring')

/** Returns the whole output: promtool prints each problem, sometimes with code 0. */
function promtool(
  args: readonly string[],
  input = '',
): { readonly code: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', [...args], {
    cwd: monitoring,
    input,
    encoding: 'utf8',
  })
  return { code: status, said: stdout + stderr }
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

/** Causes some of everything that is counted. */
async function beBusy(): Promise<void> {
  const url = `${server.wsUrl}/sync/acme/busy/main?token=`
  const client = await RawClient.connect(url + (await server.token('ann')))
  client.sendUpdate(typed('busy', 1))
  await client.roundTrip()
  const refused = await RawClient.connect(`${url}wrong`)
  await refused.closed
  const broken = await RawClient.connect(url + (await server.token('bob')))
  broken.send(Uint8Array.of(255))
  await broken.closed
  for (const { path } of operationList) await server.post(path, {}, { 'x-service-auth-token': 'wrong' })
  const address = { organizationId: 'acme', documentId: 'busy', editorId: 'main' }
  await server.post('/v2/crdt/update', { ...address, type: 'text', data: 'replaced' })
  client.end()
}

describe('promtool', () => {
  it('[OPS-32] promtool finds no problem in the metrics of a busy server', async () => {
    await beBusy()
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(promtool(['check', 'metrics'], metrics)).toEqual({ code: 0, said: '' })
  })

  it('[OPS-32] promtool finds the problem in invalid metrics', () => {
    const wrong = '# TYPE weft_things_total gauge\nweft_things_total 1\n'
    expect(promtool(['check', 'metrics'], wrong).said).not.toBe('')
  })

  it('[CF-30] promtool accepts the alert rules for a cluster', () => {
    expect(promtool(['check', 'rules', '../cluster/alerts.yml'])).toMatchObject({
      code: 0,
      said: expect.stringMatching(/SUCCESS: \d+ rules found/),
    })
  })

  it('[OPS-32] [RUN-8] [RUN-19] promtool accepts the alert rules and the Prometheus configuration, and the rules fire for a server with problems', () => {
    expect(promtool(['check', 'rules', 'alerts.yml'])).toMatchObject({
      code: 0,
      said: expect.stringMatching(/SUCCESS: \d+ rules found/),
    })
    expect(promtool(['test', 'rules', 'alerts.test.yml'])).toMatchObject({
      code: 0,
      said: expect.stringContaining('SUCCESS'),
    })
    expect(promtool(['check', 'config', 'prometheus.yml'])).toMatchObject({
      code: 0,
      said: expect.not.stringMatching(/FAILED|WARN/i),
    })
  })
})
