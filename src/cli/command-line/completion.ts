import { Argument, Command, type Option } from 'commander'
import { printResult } from './command-io.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** Creates the command `weft completion`, which generates the completion from all commands. */
export function completionCommand(program: () => Command): Command {
  return new Command('completion')
    .description('Print a script that completes commands and options: source <(weft completion bash).')
    .addArgument(new Argument('<shell>', 'Shell of the script.').choices([...shells]))
    .action((shell: Shell) => printResult(writers[shell](nodesOf(program()))))
}

/** A command with the data for completion. */
interface Node {
  /** Names of the parent commands and of the command, joined by spaces. */
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly Option[]
  /** Allowed values of the arguments. */
  readonly choices: readonly string[]
}

/** Returns a command and all its subcommands. */
function nodesOf(command: Command, path = ''): readonly Node[] {
  const { commands } = command
  const own = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: command.createHelp().visibleOptions(command),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }
  return [own, ...commands.flatMap((each) => nodesOf(each, `${path} ${each.name()}`.trim()))]
}

/**
 * Returns the completion script for bash. For words that are not commands, the script completes file names or
 * nothing.
 */
function bash(nodes: readonly Node[]): string {
  const words = nodes.map(({ path, commands, options, choices }) => {
    const all = [...commands.map(({ name }) => name), ...choices, ...options.map(nameOf)]
    return `    '${path}') words='${all.join(' ')}' ;;`
  })
  const values = nodes.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.required || option.optional
        ? [`    '${path} ${nameOf(option)}') ${completionOf(option)} ;;`]
        : [],
    ),
  )
  return `_weft() {
  local path='' word words='' index current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${path:+$path }\${COMP_WORDS[index]}"
    case "$word" in
      ${nodes.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`])).join(' | ')}) path=$word ;;
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('\n')}
  esac
  [[ -n $words ]] || case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _weft weft`
}

/**
 * Returns the code that completes the value of an option with its choices. Without choices the code completes
 * nothing, so that the shell completes file names.
 */
const completionOf = ({ argChoices }: Option): string =>
  argChoices === undefined ? 'return' : `words='${argChoices.join(' ')}'`

/** Returns the completion script for zsh, which can load completions of bash. */
const zsh = (nodes: readonly Node[]): string =>
  `autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n${bash(nodes)}`

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options, choices }) => {
    const names = path === '' ? [] : path.split(' ')
    const others = commands.map(({ name }) => name).join(' ')
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`)
    const open = path === '' ? ['__fish_use_subcommand'] : seen
    const notYet = others === '' || path === '' ? [] : [`not __fish_seen_subcommand_from ${others}`]
    const here = `-n '${[...open, ...notYet].join('; and ')}'`
    const there = `-n '${open.join('; and ')}'`
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c weft ${here} -f -a ${name} -d '${escapeForFish(description)}'`,
      ),
      ...choices.map((choice) => `complete -c weft ${there} -f -a ${choice}`),
      ...options.map((option) => `complete -c weft ${there} ${fishOption(option)}`),
    ]
  })
  return lines.join('\n')
}

function fishOption(option: Option): string {
  const short = option.short === undefined ? '' : ` -s ${option.short.slice(1)}`
  const value = option.argChoices === undefined ? ' -r' : ` -x -a '${option.argChoices.join(' ')}'`
  const takes = option.required || option.optional ? value : ''
  return `-l ${nameOf(option).slice(2)}${short}${takes} -d '${escapeForFish(option.description)}'`
}

const nameOf = (option: Option): string => option.long ?? option.flags

const escapeForFish = (text: string): string => text.replaceAll(/['\\]/g, '\\$&')

const writers: Readonly<Record<Shell, (nodes: readonly Node[]) => string>> = { bash, zsh, fish }
