import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { startProcess } from '../../support/servers/process.ts'

it('[RUN-61] serves while the disk below its log is full, and counts the lines that it drops', async () => {
  const full = openSync('/dev/full', 'w')
  const server = await startProcess(
    tmpdir(),
    { WEFT_ENGINE: 'memory', WEFT_LOG_LEVEL: 'info', WEFT_DEBUG: 'document:acme/full' },
    undefined,
    undefined,
    full,
  )
  try {
    const client = await RawClient.connect(
      `${server.wsUrl}/sync/acme/full/main?token=${await server.token()}`,
    )
    for (let clock = 0; clock < 1_500; clock++) client.sendUpdate(typed('a', clock + 1))
    await client.roundTrip()
    client.end()
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(Number(/^weft_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  } finally {
    await server.end('SIGKILL')
    closeSync(full)
  }
}, 60_000)
