# How dashctl-migrate.ps1 treats arguments. Every function is pure: text in, text out; tests drive them one by one.
# Works in Windows PowerShell 5.1 and in PowerShell 7.
Set-StrictMode -Version 2.0

# Options of `dashctl migrate` whose value is a path on this machine. '-' as a value is stdin or stdout.
$script:PathOptions = @(
    '--out', '--snapshot-out', '--bundle', '--plan', '--plan-out', '--data-dir', '--ca-bundle', '--compose-file',
    '--token-file', '--password-file', '--passphrase-file', '--bootstrap-password-file', '--setup-code-file',
    '--signing-key-file', '--encryption-key-file', '--ssh-key', '--ssh-passphrase-file', '--ssh-password-file',
    '--known-hosts'
)

# True when the arguments ask for docker mode, in either spelling; the last --via wins.
function Test-DockerMode {
    param([AllowEmptyCollection()][AllowEmptyString()][string[]] $Arguments)
    $via = ''
    for ($i = 0; $i -lt $Arguments.Count; $i++) {
        if ($Arguments[$i] -ceq '--') { break }
        if ($Arguments[$i] -ceq '--via' -and $i + 1 -lt $Arguments.Count) { $via = $Arguments[$i + 1] }
        elseif ($Arguments[$i].StartsWith('--via=', [StringComparison]::Ordinal)) { $via = $Arguments[$i].Substring(6) }
    }
    return $via -ceq 'docker'
}

# Where a command runs: 'native' or 'subsystem'. Throws, with what to do, when it can run nowhere.
function Select-Runner {
    param([bool] $IsDockerMode, [bool] $HasNative, [bool] $HasDocker, [bool] $HasSubsystem)
    if ($HasNative -and (-not $IsDockerMode -or $HasDocker)) { return 'native' }
    if ($HasSubsystem) { return 'subsystem' }
    if (-not $HasNative) { throw 'no dashctl on the PATH and no Linux subsystem (wsl): install one of them' }
    throw 'docker mode needs the docker binary on the PATH or the Linux subsystem (wsl); --via http needs neither'
}

# C:\a\b -> /mnt/c/a/b; \\wsl$\Distribution\a and \\wsl.localhost\Distribution\a -> /a; a relative path keeps its place.
function ConvertTo-LinuxPath {
    param([AllowEmptyString()][string] $Path, [string] $MountRoot = '/mnt/')
    if ($Path -match '^[\\/]{2}wsl(\.localhost|\$)[\\/][^\\/]+(?<rest>.*)$') {
        return '/' + $Matches['rest'].Replace('\', '/').TrimStart('/')
    }
    if ($Path -match '^[\\/]{2}[^\\/]') { throw "the Linux subsystem does not see the network path ${Path}: copy the file to a drive" }
    if ($Path -match '^(?<drive>[A-Za-z]):(?<rest>[\\/].*)?$') {
        $rest = if ($Matches['rest']) { $Matches['rest'] } else { '/' }
        return $MountRoot + $Matches['drive'].ToLowerInvariant() + $rest.Replace('\', '/')
    }
    return $Path.Replace('\', '/')
}

# /mnt/c/a/b -> C:\a\b; other paths stay.
function ConvertTo-WindowsPath {
    param([AllowEmptyString()][string] $Path, [string] $MountRoot = '/mnt/')
    $root = [regex]::Escape($MountRoot)
    if ($Path -match "^$root(?<drive>[A-Za-z])(?<rest>/.*)?`$") {
        $rest = if ($Matches['rest']) { $Matches['rest'] } else { '/' }
        return $Matches['drive'].ToUpperInvariant() + ':' + $rest.Replace('/', '\')
    }
    return $Path
}

# The arguments with every path in the spelling of the side that receives them; all else is unchanged.
function Convert-Arguments {
    param([AllowEmptyCollection()][AllowEmptyString()][string[]] $Arguments,
          [ValidateSet('native', 'subsystem')][string] $Runner, [string] $MountRoot = '/mnt/')
    $translate = {
        param($path)
        if ($path -ceq '-' -or $path -ceq '') { return $path }
        if ($Runner -ceq 'native') { return ConvertTo-WindowsPath $path $MountRoot }
        return ConvertTo-LinuxPath $path $MountRoot
    }
    # shred and rollback name their files without an option.
    $takesFiles = $Arguments.Count -gt 0 -and @('shred', 'rollback') -ccontains $Arguments[0]
    $converted = New-Object System.Collections.Generic.List[string]
    $isPath = $false
    for ($i = 0; $i -lt $Arguments.Count; $i++) {
        $argument = $Arguments[$i]
        $option, $value = $argument -split '=', 2
        if ($isPath) { $converted.Add((& $translate $argument)); $isPath = $false }
        elseif ($script:PathOptions -ccontains $argument) { $converted.Add($argument); $isPath = $true }
        elseif ($null -ne $value -and $script:PathOptions -ccontains $option) {
            $converted.Add($option + '=' + (& $translate $value))
        }
        elseif ($takesFiles -and $i -gt 0 -and $argument -match '[\\/]' -and $argument -notmatch '^-|^[a-z]+://') {
            $converted.Add((& $translate $argument))
        }
        else { $converted.Add($argument) }
    }
    return , $converted.ToArray()
}

# Each argument as base64 after an 'x', so that no shell, console or command line can interpret it.
function ConvertTo-EncodedArguments {
    param([AllowEmptyCollection()][AllowEmptyString()][string[]] $Arguments)
    $encoded = New-Object System.Collections.Generic.List[string]
    foreach ($argument in $Arguments) {
        $encoded.Add('x' + [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($argument)))
    }
    return , $encoded.ToArray()
}

# The text with which Windows PowerShell passes exactly this argument to a native program. It puts quotes around spaces
# itself, but does not escape quotes inside and backslashes before them. PowerShell 7.3 does it right.
function Protect-NativeArgument {
    param([AllowEmptyString()][string] $Argument, [bool] $IsLegacy)
    if (-not $IsLegacy) { return $Argument }
    if ($Argument -ceq '') { return '""' }
    $escaped = $Argument -replace '(\\*)"', '$1$1\"'
    if ($escaped -match '\s') { $escaped = $escaped -replace '(\\+)$', '$1$1' }
    return $escaped
}

Export-ModuleMember -Function @(
    'Test-DockerMode', 'Select-Runner', 'ConvertTo-LinuxPath', 'ConvertTo-WindowsPath', 'Convert-Arguments',
    'ConvertTo-EncodedArguments', 'Protect-NativeArgument'
)
