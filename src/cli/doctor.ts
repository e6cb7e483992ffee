import { Command } from 'commander'
import { unknownVariables } from '../config/read.ts'
import { examine, type Finding } from '../storage/doctor.ts'
import { exitCodes } from './exit.ts'
import { configOf, print, withConfigFlags } from './options.ts'

/** `weft doctor`: exit code 1 when something fails. */
export function doctorCommand(): Command {
  return withConfigFlags(new Command('doctor'))
    .description('Look at what it takes to serve, and say what to do where something is missing.')
    .action(async (flags: { json?: true }) => {
      const { config } = configOf(flags)
      const found = [configured(), ...(await examine(config))]
      const ok = found.every(({ verdict }) => verdict !== 'fail')
      print(flags.json ? JSON.stringify({ ok, findings: found }) : found.map(asText).join('\n'))
      if (!ok) process.exitCode = exitCodes.fault
    })
}

/** A configuration that cannot be used never comes here. */
function configured(): Finding {
  const unknown = unknownVariables(process.env)
  const name = 'configuration'
  if (unknown.length === 0) return { name, verdict: 'ok', found: 'can be used', help: '' }
  return {
    name,
    verdict: 'warn',
    found: `${unknown.join(', ')}: no such option`,
    help: 'see weft config print',
  }
}

const asText = ({ name, verdict, found, help }: Finding): string =>
  `${verdict.padEnd(5)} ${name}: ${found}${help === '' ? '' : `\n      ${help}`}`
