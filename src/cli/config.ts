import { Command } from 'commander'
import { unknownVariables } from '../config/read.ts'
import { configAsJson, renderConfig, renderMarkdown } from '../config/render.ts'
import { configOf, print, withConfigFlags } from './options.ts'

/** `weft config print` and `weft config check`. */
export function configCommand(): Command {
  const command = new Command('config').description('Show or check the configuration.')
  command.addCommand(printCommand())
  return command.addCommand(checkCommand())
}

function printCommand(): Command {
  return withConfigFlags(new Command('print'))
    .description('Print every option, its value and where that comes from; secrets are not shown.')
    .option('--markdown', 'Print the table of all options instead.')
    .action((flags: { json?: true; markdown?: true }) => {
      if (flags.markdown) return print(renderMarkdown())
      const read = configOf(flags)
      print(flags.json ? JSON.stringify(configAsJson(read)) : renderConfig(read))
    })
}

function checkCommand(): Command {
  return withConfigFlags(new Command('check'))
    .description('Check the configuration: exit code 2 and a sentence if it cannot be used.')
    .action((flags: { json?: true }) => {
      configOf(flags)
      const unknown = unknownVariables(process.env)
      if (flags.json) return print(JSON.stringify({ ok: true, unknownVariables: unknown }))
      for (const name of unknown) print(`${name} is set, but is no option`)
      print('the configuration can be used')
    })
}
