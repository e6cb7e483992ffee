import { Command } from 'commander'
import { addImportLive } from './import-live.ts'

/** `weft import`: documents from other servers. */
export function importCommand(): Command {
  const command = new Command('import').description('Bring in documents from other servers.')
  addImportLive(command)
  return command
}
