import type { LoadedSettings } from './load-settings.ts'

const settings = new WeakMap<object, LoadedSettings>()

/** Keeps the settings of a service for the other plugins of this package. */
export function keepSettings(service: object, loaded: LoadedSettings): void {
  settings.set(service, loaded)
}

/** Undefined if it is no service of this package. */
export function settingsOf(service: unknown): LoadedSettings | undefined {
  return typeof service === 'object' && service !== null ? settings.get(service) : undefined
}
