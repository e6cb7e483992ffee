import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ServerSpec } from '../../../src/cli/bench/contender.ts'
import type { BenchReport } from '../../../src/cli/bench/main.ts'
import type { FigureValue } from '../../../src/cli/bench/scenario.ts'
import { startRun } from '../../../src/cli/bench/start-run.ts'
import { runCli } from '../../support/servers/cli.ts'
import { requireTestBuild } from '../../support/servers/test-build.ts'
import { itLong } from '../../support/time/full-run.ts'

const program = join(import.meta.dirname, '..', '..', 'support', 'servers', 'wrong-sync-server.mjs')

/** Describes a small server that makes a mistake on purpose. */
const serverWith = (mistake: string): ServerSpec => ({
  name: mistake,
  protocol: 'y-websocket',
  url: 'ws://127.0.0.1:{port}',
  document: '{name}',
  // With little memory for new objects, the memory of the process does not depend on the garbage collector.
  start: [process.execPath, '--max-semi-space-size=1', program, mistake, '{port}', '{data}'],
  keeps: true,
})

async function figuresOf(
  scenario: string,
  mistake: string,
  size: 'smoke' | 'full' = 'smoke',
): Promise<Readonly<Record<string, FigureValue>>> {
  requireTestBuild()
  const { figures } = await startRun({
    scenario,
    server: serverWith(mistake),
    scale: { size, seconds: 0.5 },
  })
  return figures
}

// Most runs wait until what a server has dropped counts as lost.
it.concurrent.each([
  ['makes no mistake', 'none', undefined],
  ['drops updates', 'drops', 'not equal'],
  ['doubles updates', 'doubles', 'exist twice'],
  ['forgets cursors', 'forgets', 'does not see the cursor'],
])('[CMD-13] measures only a server that %s', async (_, mistake, reason) => {
  const start = serverWith(mistake).start as readonly string[]
  const server = ['--url', 'ws://127.0.0.1:{port}', '--start', start.join(' ')]
  const { code, out } = await runCli(['bench', ...server, '--quick', '--scenario', 'hop', '--json'], tmpdir())
  const { results } = JSON.parse(out) as BenchReport
  const [check, hop] = results
  expect(check?.failures['127.0.0.1']).toEqual(
    reason === undefined ? undefined : expect.stringContaining(reason),
  )
  expect({ code, runs: hop?.runs['127.0.0.1']?.length }).toEqual(
    reason === undefined ? { code: 0, runs: 1 } : { code: 1, runs: undefined },
  )
})

const typing = ['saturated', 'rooms']
const otherTyping = [
  'paced',
  'saturated-pair',
  'hop',
  'rooms-of-three',
  'observers',
  'session',
  'session-concurrent',
  'growth',
]
const findsDrops = async (scenario: string): Promise<void> => {
  await expect(figuresOf(scenario, 'drops')).rejects.toThrow(/did not arrive|another text/)
}
it.each(typing)('[CMD-13] the scenario %s has no figures if the server drops updates', findsDrops)
itLong.each(otherTyping)('[CMD-13] the scenario %s has no figures if the server drops updates', findsDrops)

it('[CMD-13] scenarios have no figures if the server writes text of its own', async () => {
  await expect(figuresOf('saturated', 'doubles')).rejects.toThrow('that no client has typed')
})

it('[CMD-13] the cursors have no figures if the server forgets one', async () => {
  await expect(figuresOf('cursors', 'forgets')).rejects.toThrow('last position')
})

itLong('[CMD-13] observers with presence have no figures if the server forgets a cursor', async () => {
  await expect(figuresOf('observers-presence', 'forgets')).rejects.toThrow('last position')
})

it('[CMD-13] a kill shows whether the server has stored the updates that others see', async () => {
  expect(await figuresOf('loss', 'none')).toEqual({ killed: 100, stopped: 100 })
  expect((await figuresOf('loss', 'early')).killed).toBeLessThan(90)
})

it('[CMD-13] the last client that leaves shows whether the server stores its updates', async () => {
  expect(await figuresOf('left', 'none')).toEqual({ kept: 100 })
  expect((await figuresOf('left', 'unloads')).kept).toBe(0)
})

it('[CMD-13] idle connections show that the server closes them, and that closed ones leave memory', async () => {
  expect((await figuresOf('idle', 'closes')).closed).toBe(100)
  expect((await figuresOf('idle', 'leaks100000')).left).toBeGreaterThan(50)
})

itLong('[CMD-13] a closed connection that leaves 1 KB is found', async () => {
  const [correct, leaking] = [
    await figuresOf('idle', 'none', 'full'),
    await figuresOf('idle', 'leaks1024', 'full'),
  ]
  expect(leaking.left).toBeGreaterThan(0.7)
  expect(correct.left).toBeLessThan(0.6)
})

it('[CMD-13] a stopped reader shows that the server leaves out updates', async () => {
  expect((await figuresOf('stopped-reader', 'none')).behind).toBe(0)
  expect((await figuresOf('stopped-reader', 'skips')).behind).toBeGreaterThan(0)
})

it('[CMD-13] agents that flush have no figures if the server drops large updates', async () => {
  await expect(figuresOf('flush', 'narrows')).rejects.toThrow('did not arrive')
})

it('[CMD-13] connections to new documents have no figures if the server refuses some', async () => {
  await expect(figuresOf('connect-new', 'refuses')).rejects.toThrow('refuses connections (1013)')
})

itLong('[CMD-13] the growth of a document shows that the server stores it again for each edit', async () => {
  const [correct, rewriting] = [await figuresOf('growth', 'none'), await figuresOf('growth', 'rewrites')]
  expect(rewriting.stored).toBeGreaterThan(5 * (correct.stored ?? 0))
})

itLong('[CMD-13] a large document has no figures if the server does not send it', async () => {
  await expect(figuresOf('join-large', 'empties')).rejects.toThrow('does not send the document')
})

itLong.each(['connect', 'storm'])(
  '[CMD-13] the scenario %s has no figures if stored text does not arrive',
  async (scenario) => {
    await expect(figuresOf(scenario, 'empties')).rejects.toThrow('does not send a document')
  },
)
