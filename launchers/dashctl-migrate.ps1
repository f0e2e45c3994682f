# `dashctl migrate` with the same arguments, on Windows. Docker mode runs inside the Linux subsystem when no docker
# binary is on the Windows path; without a dashctl for Windows every mode does. Paths are translated, the caller's
# folder stays the current one, and the exit code is dashctl's. DASHCTL names the binary.
#
#   .\dashctl-migrate.ps1 export --source https://dash.example --via docker --out C:\move\bundle.json
#
# There is no param() block: every argument is dashctl's.
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
# A failing dashctl is an exit code to pass on, not an exception.
$PSNativeCommandUseErrorActionPreference = $false
Import-Module (Join-Path $PSScriptRoot 'arguments.psm1') -Force

function Find-Program([string] $Name) {
    return Get-Command $Name -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
}

# Where the subsystem mounts drives: /mnt/ unless its configuration says otherwise.
function Get-MountRoot {
    $drive = & wsl.exe -e wslpath -u 'C:/'
    if ($LASTEXITCODE -eq 0 -and "$drive" -match '^(?<root>.*/)c/?$') { return $Matches['root'] }
    return '/mnt/'
}

[string[]] $given = @($args | ForEach-Object { [string] $_ })
$named = if ($env:DASHCTL) { $env:DASHCTL } else { 'dashctl' }
$native = Find-Program $named
$subsystem = Find-Program 'wsl.exe'
try {
    $runner = Select-Runner -IsDockerMode (Test-DockerMode $given) -HasNative ($null -ne $native) `
        -HasDocker ($null -ne (Find-Program 'docker')) -HasSubsystem ($null -ne $subsystem)
    if ($runner -ceq 'native') {
        $legacy = -not (Test-Path Variable:PSNativeCommandArgumentPassing) -or "$PSNativeCommandArgumentPassing" -eq 'Legacy'
        $arguments = @(Convert-Arguments $given native | ForEach-Object { Protect-NativeArgument $_ $legacy })
        & $native.Source migrate @arguments
    }
    else {
        $root = Get-MountRoot
        $launcher = ConvertTo-LinuxPath (Join-Path $PSScriptRoot 'dashctl-migrate.sh') $root
        $arguments = ConvertTo-EncodedArguments (Convert-Arguments $given subsystem $root)
        & wsl.exe --cd (Get-Location).ProviderPath -e sh $launcher --encoded @arguments
    }
}
catch {
    [Console]::Error.WriteLine("dashctl-migrate: $($_.Exception.Message)")
    exit 1
}
exit $LASTEXITCODE
