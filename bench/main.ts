/**
 * Runs the benches, each in a process of its own.
 *
 *   npm run bench                     all of them
 *   npm run bench -- replay           those named
 *   npm run bench -- --smoke          all, just long enough to prove that they run
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const benches = [
  'sync',
  'replay',
  'replace',
  'replace-json',
  'replace-xml',
  'replace-growth',
  'replace-worst',
  'neighbours',
  'presence',
  'rest',
  'activities',
  'memory',
  'webhooks',
  'storage',
  'audit',
]

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const unknown = names.filter((name) => !benches.includes(name))
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}; there are ${benches.join(', ')}`)
  process.exit(2)
}
for (const name of names.length > 0 ? names : benches) {
  console.log(`\n${name}`)
  const script = join(import.meta.dirname, `${name}.ts`)
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', script, ...flags], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
