import type { Finding } from '../../capabilities/backups/storage/finding.ts'
import { printResult } from '../command-line/command-io.ts'
import { exitCodes } from '../command-line/run-command.ts'

/** Prints the results of checks. The exit code is 1 if a check fails. */
export function printFindings(findings: readonly Finding[], json: true | undefined): void {
  const ok = findings.every(({ verdict }) => verdict !== 'fail')
  printResult(json ? JSON.stringify({ ok, findings }) : findings.map(asText).join('\n'))
  if (!ok) process.exitCode = exitCodes.fault
}

const asText = ({ name, verdict, found, help }: Finding): string =>
  `${verdict.padEnd(5)} ${name}: ${found}${help === '' ? '' : `\n      ${help}`}`
