import type { ComponentChildren } from 'preact'

/** Shows names with their values. Omits entries whose value is null. */
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
