"""The actions that the gate decides on, and the routes that ask for them."""

DEPLOYS = {
    "cloud1:vm:deploy": ["/api/cloud1/deploy", "/api/aws/deploy"],
    "cloud2:vm:deploy": ["/api/cloud2/deploy", "/api/azure/deploy"],
    "cloud3:vm:deploy": ["/api/cloud3/deploy", "/api/gcp/deploy"],
    "cloud4:compute:deploy": ["/api/cloud4/deploy", "/api/oci/deploy"],
    "clouddb:provision": ["/api/databases"],
    "k8s:provision": ["/api/k8s/clusters/provision"],
}

DESTROYS = {
    "cloud1:vm:destroy": ["/api/cloud1/instances/i-1", "/api/aws/instances/i-1"],
    "cloud2:vm:destroy": ["/api/cloud2/vms/vm-1", "/api/azure/vms/vm-1"],
    "cloud3:vm:destroy": ["/api/cloud3/instances/vm-1", "/api/gcp/instances/vm-1"],
    "cloud4:compute:destroy": ["/api/cloud4/instances/ocid1.instance/a", "/api/oci/instances/ocid1.instance/a"],
}

ROUTES = [("POST", action, path) for action, paths in DEPLOYS.items() for path in paths]
ROUTES += [("DELETE", action, path) for action, paths in DESTROYS.items() for path in paths]
ALL = ",".join([*DEPLOYS, *DESTROYS])
MACHINE = {"region": "mars-1", "instance_type": "t3.large", "image": "ami-1", "name": "web"}
