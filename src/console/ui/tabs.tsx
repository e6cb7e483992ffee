interface TabsProps {
  readonly label: string
  readonly current: string
  /** Address and label of each tab. */
  readonly tabs: readonly (readonly [string, string])[]
}

/** Shows links to the pages of a section. */
export const Tabs = ({ label, current, tabs }: TabsProps) => (
  <nav aria-label={label} class="tabs">
    {tabs.map(([to, title]) => (
      <a key={to} href={to} class="tab" aria-current={to === current ? 'page' : undefined}>
        {title}
      </a>
    ))}
  </nav>
)
