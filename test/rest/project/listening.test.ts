import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli, startCli } from '../../support/servers/cli.ts'

const directory = (): string => mkdtempSync(join(tmpdir(), 'weft-listening-'))
const warning = /other machines can connect/

/** Starts a server, waits until it listens, and returns its output. */
async function started(environment: Readonly<Record<string, string>>): Promise<string> {
  const args = ['serve', '--engine', 'memory', '--port', '0']
  const running = startCli(args, directory(), environment)
  await running.printed(/"listening"/)
  running.child.kill('SIGTERM')
  await running.ended
  return running.out()
}

it('[CFG-15] listens on the loopback address by default, and warns at the start if documents are public and other machines can connect', async () => {
  const [local, reachable, restricted] = await Promise.all([
    started({}),
    started({ WEFT_HOST: '0.0.0.0' }),
    started({ WEFT_HOST: '0.0.0.0', WEFT_DEFAULT_ACCESS: 'restricted' }),
  ])
  expect(local).toContain('"host":"127.0.0.1"')
  expect(reachable).toMatch(warning)
  for (const output of [local, restricted]) expect(output).not.toMatch(warning)
})

it.runIf(process.platform === 'linux')(
  '[CFG-16] ends at once with one sentence if the data directory cannot be made',
  async () => {
    const { code, err } = await runCli(['serve', '--data-dir', '/proc/foo', '--port', '0'], directory())
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^weft: the data directory cannot be made: ENOENT[^\n]*--data-dir\n$/),
    ])
  },
)
