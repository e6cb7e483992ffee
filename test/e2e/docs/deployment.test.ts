import { execFile, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../../../src/core/base/package-file.ts'
import { samplesOf } from '../../support/data/docs-samples.ts'
import { missing } from '../../support/needs.ts'
import { runCli } from '../../support/servers/cli.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'

const run = promisify(execFile)
const adminToken = 'an-admin-token-of-tests'
const root = join(import.meta.dirname, '../../..')

let folder: string
let weft: ServerProcess
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-deployed-'))
  weft = await startProcess(join(folder, 'data'), { WEFT_ADMIN_TOKEN: adminToken })
}, 60_000)
afterAll(async () => {
  await weft?.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

/** Runs the command of the unit that the chapter installs as systemd does, with the paths of this machine. */
async function runUnit(paths: Readonly<Record<string, string>>): Promise<void> {
  const unit = readFileSync(join(root, 'examples/deploy/weft-backup.service'), 'utf8')
  const commands = [...unit.matchAll(/^ExecStart(?:Post)?=(.*)$/gm)].map(([, each = '']) => each)
  expect(commands).toHaveLength(1)
  const [program = '', ...args] = (commands[0] as string)
    .split(' ')
    .map((word) => Object.entries(paths).reduce((all, [from, to]) => all.replaceAll(from, to), word))
  await run(program, args, { cwd: folder, env: { PATH: process.env.PATH } })
}

it('[GUIDE-13] the backup of the chapter can be restored, and deletes old backups only after a success', async () => {
  const target = { organizationId: 'production', documentId: 'handbook', editorId: 'main' }
  await weft.post('/v2/crdt/add', { ...target, type: 'text', data: 'Be kind.' })
  const backups = join(folder, 'backups')
  const credentials = join(folder, 'credentials')
  mkdirSync(credentials)
  writeFileSync(join(credentials, 'admin-token'), `${adminToken}\n`)
  writeFileSync(join(credentials, 'backup-key'), `${'ab'.repeat(32)}\n`)
  const paths = {
    '/usr/bin/node': process.execPath,
    '/opt/weft/dist/main.js': fileURLToPath(builtFile('main.js')),
    'http://127.0.0.1:8787': weft.url,
    '/var/backups/weft': backups,
    '${CREDENTIALS_DIRECTORY}': credentials,
  }
  const made = (): readonly string[] => readdirSync(join(backups, 'backups'))

  await runUnit(paths)
  const [first] = made()
  writeFileSync(join(credentials, 'admin-token'), 'another-token\n')
  await expect(runUnit(paths)).rejects.toThrow('UNAUTHENTICATED')
  expect(made()).toEqual([first])
  writeFileSync(join(credentials, 'admin-token'), `${adminToken}\n`)
  await runUnit(paths)
  // Both are of one day, and the rule keeps one of each day.
  if (made()[0]?.slice(0, 8) === first?.slice(0, 8))
    expect([made().length, made().includes(first as string)]).toEqual([1, false])

  const keyFile = join(credentials, 'backup-key')
  const restored = await runCli(['restore', backups, './restored', '--key-file', keyFile], folder)
  expect({ code: restored.code, err: restored.code === 0 ? '' : restored.err }).toEqual({ code: 0, err: '' })
  const read = await runCli(
    [
      'doc',
      'get',
      'production/handbook/main',
      '--format',
      'text',
      '--data-dir',
      './restored',
      '--workspace',
      'test',
      '--api-key',
      'test-key',
    ],
    folder,
  )
  expect(read.out).toContain('Be kind.')
})

/** The parts of the configuration file of Debian to which the chapter adds items. */
const debianConfiguration = `global:
  scrape_interval:     15s

# Load rules once and periodically evaluate them according to the global 'evaluation_interval'.
rule_files:
  # - "first_rules.yml"
  # - "second_rules.yml"

scrape_configs:
  # The job name is added as a label to any timeseries scraped from this config.
  - job_name: 'prometheus'
    scrape_interval: 5s
    static_configs:
      - targets: ['localhost:9090']

  - job_name: node
    static_configs:
      - targets: ['localhost:9100']
`

describe.skipIf(missing('promtool'))('the configuration of Prometheus', () => {
  it('[GUIDE-13] the Prometheus configuration of Debian is valid after the items of the chapter are added', () => {
    const items = samplesOf('src/docs/deployment.md').filter(
      ({ heading, language }) => heading === '6. Metrics and alerts' && language === 'yaml',
    )
    const keys = ['rule_files:', 'scrape_configs:']
    expect(items).toHaveLength(keys.length)
    const merged = keys.reduce(
      (text, key, index) => text.replace(`\n${key}\n`, `\n${key}\n${items[index]?.text}\n`),
      debianConfiguration,
    )
    const configuration = merged.replace('/etc/prometheus/', `${folder}/`)
    writeFileSync(join(folder, 'weft-metrics-token'), 'a-metrics-token')
    writeFileSync(join(folder, 'prometheus.yml'), configuration)
    copyFileSync(join(root, 'examples', 'deploy', 'monitoring', 'alerts.yml'), join(folder, 'alerts.yml'))
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', 'prometheus.yml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect({ status, said: stdout + stderr }).toMatchObject({
      status: 0,
      said: expect.stringContaining('1 rule files found'),
    })
    expect(merged.match(/job_name/g)).toHaveLength(3)
  })
})

it('[GUIDE-13] Git ignores the files with secrets that the documentation writes into the folder of Weft', () => {
  const files = [
    'deploy/.env',
    'examples/deploy/weft.env',
    'examples/deploy/cluster/.env',
    'examples/deploy/cluster/weft.env',
    'examples/deploy/secrets/backup-key',
    'examples/deploy/restored/CURRENT',
    'examples/deploy/weft-backups/repository',
    'examples/deploy/cluster/secrets/backup-key',
    'admin-token',
    'backup.key',
    'versions.key',
    'private.key',
    'weft-backups/repository',
    'weft.backup',
    'restored/CURRENT',
  ]
  const repository = join(folder, 'repository')
  mkdirSync(repository)
  copyFileSync(join(root, '.gitignore'), join(repository, '.gitignore'))
  spawnSync('git', ['init', '--quiet'], { cwd: repository })
  const { stdout } = spawnSync('git', ['check-ignore', ...files], { cwd: repository, encoding: 'utf8' })
  expect(stdout.trim().split('\n')).toEqual(files)
})
