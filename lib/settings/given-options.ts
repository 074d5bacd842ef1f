import { dirname, resolve } from 'node:path'
import { isObject } from '../outside/is-object.ts'
import { checkValue, type Given, refuse, refuseUnknown } from './check-value.ts'
import { type IniEntry, readIniFile } from './ini-file.ts'
import { readValue } from './ini-line.ts'
import { INI_KEYS, isOptionName, optionNames, readIniText, writtenText } from './ini-values.ts'
import { IssuerSections } from './issuer-sections.ts'
import { type OptionName, Options } from './options.ts'
import { ownMembers } from './own-members.ts'
import type { Problems, Source } from './problems.ts'
import { isOptionSection, type OptionSection } from './section-name.ts'
import { showValue } from './shown-value.ts'
import { WrittenIssuer } from './written-issuer.ts'

/** What somebody gave. Code wins over the INI file. */
export interface GivenOptions {
  /** Where each option was given last, right or wrong. */
  readonly sources: ReadonlyMap<OptionName, Source>
  /** The right values. */
  readonly values: ReadonlyMap<OptionName, unknown>
  /** Each list of issuers that was given. The last one counts. */
  readonly issuerLists: readonly (readonly WrittenIssuer[])[]
}

/** Each value is checked by itself, in the order in which they were written. */
export function readGivenOptions(options: unknown, problems: Problems): GivenOptions {
  const sources = new Map<OptionName, Source>()
  const values = new Map<OptionName, unknown>()
  const issuerLists: (readonly WrittenIssuer[])[] = []
  for (const given of readSources(options, problems)) {
    const { name, value, source } = given
    sources.set(name, source)
    if (!checkValue(Options.properties[name], given, problems)) continue
    values.set(name, value)
    if (name === 'issuers') issuerLists.push(given.issuers ?? listedIssuers(value, problems))
  }
  return { sources, values, issuerLists }
}

interface GivenOption extends Given<OptionName> {
  /** Of the sections of an INI file. */
  readonly issuers?: readonly WrittenIssuer[]
}

function* readSources(options: unknown, problems: Problems): Generator<GivenOption, void> {
  if (!isObject(options)) {
    problems.add(inCode('options'), 'an object', showValue(options))
    return
  }
  const own = ownMembers(options, inCode('options'), inCode, problems)
  if (own.has(CONFIG_FILE)) yield* readFile(own.get(CONFIG_FILE), problems)
  own.delete(CONFIG_FILE)
  yield* readCode(own, problems)
}

const CONFIG_FILE = 'configFile'

function* readFile(configFile: unknown, problems: Problems): Generator<GivenOption, void> {
  if (typeof configFile !== 'string' || configFile === '') {
    refuse(inCode(CONFIG_FILE), 'a path', configFile, problems)
    return
  }
  const issuers = new IssuerSections(problems)
  const givenBy = new Map<OptionName, string>()
  for (const line of readIniFile(configFile, problems)) {
    const { section } = line
    if (!isOptionSection(section)) issuers.take(line)
    else if (line.kind === 'entry') {
      const given = readEntry(section, line, configFile, problems)
      if (given === null) continue
      const other = givenBy.get(given.name)
      if (other !== undefined) problems.add(given.source, `${other} or ${line.key}`, 'both')
      givenBy.set(given.name, line.key)
      yield given
    }
  }
  if (issuers.given) yield issuers.given
}

function readEntry(
  section: OptionSection,
  { key, text, where }: IniEntry,
  configFile: string,
  problems: Problems,
): GivenOption | null {
  const source = { key, where }
  const name = INI_KEYS[section].get(key)
  if (name === undefined) {
    refuseUnknown(key, [...INI_KEYS[section].keys()], { source, value: text }, problems)
    return null
  }
  const isAddress = key === 'tenant_url'
  const value = isAddress ? readValue(text) : readIniText(Options.properties[name], text)
  const isPath = name === 'devUserInfoPath' && typeof value === 'string' && value !== ''
  const found = isPath ? resolve(dirname(configFile), value) : value
  return { name, value: found, written: writtenText(text), source }
}

function* readCode(
  own: ReadonlyMap<string, unknown>,
  problems: Problems,
): Generator<GivenOption, void> {
  for (const [name, value] of own) {
    const source = inCode(name)
    if (isOptionName(name)) yield { name, value, written: value, source }
    else refuseUnknown(name, [...optionNames(), CONFIG_FILE], { source, value }, problems)
  }
}

/** Of a list in code; none where it is a function. */
function listedIssuers(value: unknown, problems: Problems): readonly WrittenIssuer[] {
  const list: unknown[] = Array.isArray(value) ? value : []
  return list.filter(isObject).map((rules, index) => {
    const placeOf = (member: string) => inCode(`issuers[${index}].${member}`)
    return WrittenIssuer.ofObject(rules, inCode(`issuers[${index}]`), placeOf, problems)
  })
}

function inCode(key: string): Source {
  return { key, where: 'option' }
}
