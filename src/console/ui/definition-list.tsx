import type { ComponentChildren } from 'preact'

/** Shows a list of names with their values. Entries whose value is null are omitted. */
export const DefinitionList = ({
  of,
}: {
  readonly of: readonly (readonly [string, ComponentChildren])[]
}) => (
  <dl class="facts">
    {of
      .filter(([, what]) => what !== null && what !== '')
      .map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
  </dl>
)
